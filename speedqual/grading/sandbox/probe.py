def attempt(payload):
    return {"x": 1}
