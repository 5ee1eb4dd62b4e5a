"""Measures translation on the evaluation talks: outputs of every route, verdicts of readers, and figures."""
