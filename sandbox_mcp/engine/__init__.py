"""The ground floor: world, tools, worlds, trajectory. It knows no server and no model."""
