"""The seven plug-ins of the office, one module each. Names of tools and arguments are those of ToolTalk, appendix A."""
