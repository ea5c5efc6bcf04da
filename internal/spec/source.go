package spec

// Source is a persona source: one contract with its variants and the active
// one. register makes the stored persona equal to it.
type Source struct {
	ID       string
	Contract *Object // ContractFields only
	Active   string
	Variants []Variant // sorted by name, never empty
}

// Variant is a named implementation.
type Variant struct {
	Name           string
	Implementation *Object // ImplementationFields only
}

// Spec joins the contract and the named variant into a flat PersonaSpec
// without a digest; ok is false when there is no such variant.
func (s *Source) Spec(variant string) (o *Object, ok bool) {
	for _, v := range s.Variants {
		if v.Name == variant {
			o = s.Contract.Clone()
			o.Members = append(o.Members, v.Implementation.Members...)
			return o, true
		}
	}
	return nil, false
}
