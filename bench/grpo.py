"""``python -m bench.grpo SEED [STEPS] [--rollouts FOLDER]``: TRL's GRPO trainer on a scenario of one tool, on one core.

Run it where TRL is installed, with our source on the path. The model is a transformer of two layers made from a
configuration. A model of this size does not find the form of a call by chance, so it first imitates sessions that know
the form and nothing else: whether to call, which position of the switch, and the closing words are drawn by lot,
whatever the user asked for. Then TRL's unmodified trainer lets it sample from its whole vocabulary, each prompt a fresh
instance, and rewards it as any other policy. Prints one JSON object: the mean reward of every step.
"""

import json
import os
import random
import re
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
)
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer

from sandbox_mcp.play.training import Rollouts
from sandbox_mcp.play.training.trl import SandboxSpec

SCENARIO = "wifi_off"
MARKS = [
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"),
    *("<tool_response>", "</tool_response>", "<think>", "</think>"),
]
TEMPLATE = (Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
OPEN = "<|im_start|>assistant\n<think>\n\n</think>\n\n"
WORDS = ("The {} is on now.", "The {} is off now.", "Done.")
CALLING = 0.8
"""Share of the imitated sessions in which the switch is worked at all."""
IMITATED, BATCH = 700, 8
MERGED, RATE = 400, 5e-4

Pieces = Sequence[tuple[str, bool]]
"""A session as text: what the model is shown (False) and what it writes (True)."""


def session(spec: SandboxSpec, row: Mapping[str, Any], chance: random.Random, bare: Any) -> Pieces:
    """A session whose policy keeps the form and draws everything else by lot."""
    env = spec.environment_factory[row["environment"]]()
    opening = env.reset(**row)
    names = [name for name in vars(type(env)) if not name.startswith("_")]
    tools = [get_json_schema(getattr(env, name)) for name in names]
    shown = bare.apply_chat_template(
        [row["prompt"][0], {"role": "user", "content": opening}],
        tools=tools, tokenize=False, add_generation_prompt=True, enable_thinking=False,
    )  # fmt: skip
    on, thing = chance.random() < 0.5, names[0].removeprefix("set_").removesuffix("_status").replace("_", " ")
    said = chance.choice(WORDS).format(thing) + "<|im_end|>"
    if chance.random() > CALLING:
        return [(shown, False), (said, True)]
    call = json.dumps({"name": names[0], "arguments": {"on": on}})
    try:
        result = getattr(env, names[0])(on=on)
    except ValueError as error:
        result = str({"error": str(error)})  # as TRL writes it
    answered = f"\n<|im_start|>user\n<tool_response>\n{result}\n</tool_response><|im_end|>\n{OPEN}"
    return [
        (shown, False),
        (f"<tool_call>\n{call}\n</tool_call><|im_end|>", True),
        (answered, False),
        (said, True),
    ]


def tokenizer(sessions: Sequence[Pieces]) -> Any:
    """A tokenizer of pairs of bytes, to which each line of what is shown first is one token: prompts stay short."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer, raw.decoder = (
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        decoders.ByteLevel(),
    )
    learnt = trainers.BpeTrainer(
        vocab_size=MERGED, special_tokens=MARKS[:3], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    raw.train_from_iterator(("".join(text for text, written in one if written) for one in sessions), learnt)
    made = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    given = [text for one in sessions for text, written in one if not written]
    shown = {piece for text in given for piece in re.split(r"\n|<[|]im_(?:start|end)[|]>", text) if len(piece) > 3}
    made.add_tokens(MARKS[3:])
    made.add_tokens(sorted(shown, key=lambda piece: (-len(piece), piece)))
    made.chat_template = TEMPLATE
    return made


def imitate(model: Any, tok: Any, sessions: Sequence[Pieces], chance: random.Random) -> float:
    """Teach the model to write what such sessions write; the last loss."""
    made: list[tuple[list[int], list[int]]] = []
    for one in sessions:
        parts = [(tok(text, add_special_tokens=False).input_ids, written) for text, written in one]
        made.append(
            (
                [number for ids, _ in parts for number in ids],
                [number if written else -100 for ids, written in parts for number in ids],
            )
        )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, n / 30) * (1 - 0.9 * n / IMITATED))
    loss = torch.zeros(())
    for _ in range(IMITATED):
        batch = chance.sample(made, BATCH)
        most = max(len(ids) for ids, _ in batch)
        ids = torch.tensor([ids + [tok.pad_token_id] * (most - len(ids)) for ids, _ in batch])
        labels = torch.tensor([wanted + [-100] * (most - len(wanted)) for _, wanted in batch])
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return float(loss.item())


def main(arguments: Sequence[str]) -> None:
    """Train, and print the rewards."""
    parser = ArgumentParser("python -m bench.grpo", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("steps", type=int, nargs="?", default=30)
    parser.add_argument("--rollouts", metavar="FOLDER", help="keep the episodes as logs, for 'sandbox-mcp view'")
    options = parser.parse_args(arguments)
    begun = time.perf_counter()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    chance = random.Random(options.seed)
    bare = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))
    bare.chat_template = TEMPLATE
    old = SandboxSpec([SCENARIO], instances=400, first=100_001)
    sessions = [session(old, row, chance, bare) for row in old.rows]
    tok = tokenizer(sessions)
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tok), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=16, max_position_embeddings=1024, eos_token_id=tok.eos_token_id,
            pad_token_id=tok.pad_token_id, bos_token_id=None, tie_word_embeddings=True,
        )
    )  # fmt: skip
    loss = imitate(model, tok, sessions, chance)
    print(f"{len(tok)} tokens, loss of imitation {loss:.2f}", file=sys.stderr, flush=True)
    rollouts = Rollouts(options.rollouts) if options.rollouts else None
    spec = SandboxSpec([SCENARIO], instances=options.steps * 4, first=1 + 1000 * options.seed, rollouts=rollouts)
    with tempfile.TemporaryDirectory() as folder:
        settings = GRPOConfig(
            output_dir=folder, seed=options.seed, max_steps=options.steps, per_device_train_batch_size=64,
            num_generations=16, max_completion_length=80, max_tool_calling_iterations=3, learning_rate=RATE,
            lr_scheduler_type="constant", adam_beta1=0.5, beta=0.0, temperature=1.0, logging_steps=1, report_to=[],
            save_strategy="no", use_cpu=True, bf16=False, gradient_checkpointing=False, disable_tqdm=True,
            chat_template_kwargs={"enable_thinking": False},
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=model, processing_class=tok, args=settings, train_dataset=spec.train_dataset,
            environment_factory=spec.environment_factory, reward_funcs=spec.reward_funcs,
        )  # fmt: skip
        trainer.train()
    rewards = [round(row["reward"], 4) for row in trainer.state.log_history if "reward" in row]
    print(json.dumps({"seed": options.seed, "rewards": rewards, "seconds": round(time.perf_counter() - begun)}))


if __name__ == "__main__":
    main(sys.argv[1:])
