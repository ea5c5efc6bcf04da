package spec

// Number is a JSON number in its lexical form. Whether it is an integer or a
// float is part of the digest, so it never becomes a float64 on its way.
type Number string

// Member is one key of an Object.
type Member struct {
	Key   string
	Value any
}

// Object is a JSON object with its input order kept and no key twice. Values
// are nil, bool, string, Number, []any and *Object. An Object is read-only
// once it is shared.
type Object struct {
	Members []Member
}

// Get gives the value of key.
func (o *Object) Get(key string) (any, bool) {
	for i := range o.Members {
		if o.Members[i].Key == key {
			return o.Members[i].Value, true
		}
	}
	return nil, false
}

// Has says whether key is there.
func (o *Object) Has(key string) bool { _, ok := o.Get(key); return ok }

// String gives the value of key where it is a string, else "".
func (o *Object) String(key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}

// Set replaces key's value or appends it.
func (o *Object) Set(key string, value any) {
	for i := range o.Members {
		if o.Members[i].Key == key {
			o.Members[i].Value = value
			return
		}
	}
	o.Members = append(o.Members, Member{key, value})
}

// Delete removes key.
func (o *Object) Delete(key string) {
	for i := range o.Members {
		if o.Members[i].Key == key {
			o.Members = append(o.Members[:i], o.Members[i+1:]...)
			return
		}
	}
}

// Clone copies the object's own list of members, not what they hold.
func (o *Object) Clone() *Object {
	return &Object{Members: append([]Member(nil), o.Members...)}
}
