"""Glossary terms in texts: where they occur, whether a translation keeps them, and how they are pronounced."""
