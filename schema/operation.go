package schema

// The two sides of an operation in #Operations.
const (
	Input  = "input"
	Output = "output"
)

// OperationFile is where JSON holds the JSON Schema of one side of an
// operation.
func OperationFile(operation, side string) string {
	return "json/operations/" + operation + "." + side + ".json"
}
