"""Tools of importers: foreign JSON, messages, archives and times, and the session that they build."""
