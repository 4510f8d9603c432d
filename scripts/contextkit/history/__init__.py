"""All systems at once: what is stored, and from the ledger, what became of it and why.

flows/overview            the settings in force, the documented files, a status line per system
flows/traces              what became of each document and session, and where a document came from
flows/show                open any document by its address
flows/search              find documents by their words
flows/report              all of this as one page
"""
