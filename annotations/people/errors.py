class Refused(Exception):
    """Something a person asked for that cannot be done: `code` for machines, the words for people.

    Nothing was changed. `status` is the HTTP status that says the same.
    """

    def __init__(self, code: str, detail: str, *, status: int = 409) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.status = status
