package main

import "io"

func writeDashboard(io.Writer) error { return nil }
