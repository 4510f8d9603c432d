"""The outputs of commands: kept whole as they come, told in few tokens if they are long."""
