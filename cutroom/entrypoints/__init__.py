"""The processes: each file builds and wires one."""
