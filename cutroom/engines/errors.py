"""How engines fail, in terms that a workflow can act upon."""


class EngineError(Exception):
    """An engine could not do what it was asked; trying the same again would end the same way."""


class EngineUnavailableError(EngineError):
    """An engine or its model is not there, or does not answer now; another time or another engine may do."""


class NoRouteError(EngineError):
    """No engine has a way between the two languages."""
