// Package yamlfile reads a file in YAML or JSON value by value, and knows where each
// of them stands, so that everything that is wrong with the file can be told at once,
// with line and column, what to do, and the line itself.
//
//	f := yamlfile.New("settings.yaml")
//	if root, ok := f.Parse(data); ok {
//		for _, p := range f.Pairs("", root) {
//			f.Enter(p.Name, p)
//			if s, ok := f.Scalar(p.Name, p.Value, true); ok {
//				...
//			}
//		}
//	}
//	for _, p := range f.Problems() {
//		...
//	}
//
// A path names a value, "targets[0].name", in the reader's own words: they are what
// problems are told by.
//
// Anchors, aliases and merges (<<) work; tags, directives and several documents are
// refused. A ${NAME} in a scalar is a variable of the environment. What is read is
// bounded, in size, depth and what aliases multiply to.
//
// Files hold credentials, and so does the environment. No problem tells what a variable
// holds, and a quoted line shows only what was said to be public.
//
// It must never know what the values mean.
package yamlfile
