"""The outputs of commands: kept whole, and summarized in few tokens if they are long."""
