"""Operations on the documents."""
