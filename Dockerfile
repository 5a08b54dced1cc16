# The lobby and the control API over HTTP. docs/serving.md tells how to run it.
FROM python:3.13-slim AS build
# What is installed beside the base: llm for the openai agent and the llm user, storage, ... as in --build-arg EXTRAS=llm,storage
ARG EXTRAS=""
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY sandbox_mcp ./sandbox_mcp
COPY scenarios/sandbox_scenarios ./scenarios/sandbox_scenarios
COPY grader/sandbox_grader ./grader/sandbox_grader
COPY clients/sandbox_clients ./clients/sandbox_clients
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir ".${EXTRAS:+[$EXTRAS]}"

FROM python:3.13-slim
LABEL io.modelcontextprotocol.server.name="io.github.sandbox-mcp/sandbox-mcp"
COPY --from=build /venv /venv
RUN useradd --system --uid 10001 --create-home sandbox && mkdir /logs && chown sandbox /logs
USER 10001
# Only loopback's names are allowed, so that the image answers where its port is published on the same machine;
# SANDBOX_MCP_TOKEN is not set here, and without it the server does not start.
ENV PATH="/venv/bin:$PATH" SANDBOX_MCP_LOG_DIR="/logs" SANDBOX_MCP_ALLOWED_HOST="localhost"
VOLUME /logs
EXPOSE 8930
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8930/healthz', timeout=4)"]
ENTRYPOINT ["sandbox-mcp"]
CMD ["serve", "--http", "--host", "0.0.0.0", "--port", "8930"]
