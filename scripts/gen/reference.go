package main

func genReference(s *schemas) ([]file, error) { return nil, nil }
