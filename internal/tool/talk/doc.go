// Package talk holds tools that touch nothing outside the run.
package talk
