"""ToolTalk's conversations, played by prefix replay as its paper does."""
