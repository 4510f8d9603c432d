"""Text engines that need no document: blocks, digests, facts."""
