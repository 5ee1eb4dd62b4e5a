"""Tests of cells: the gate, the directory, the router and moves."""
