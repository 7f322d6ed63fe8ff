package yamlfile

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize is how many bytes a file may have.
const MaxSize = 1 << 20

// What a file may hold besides. Settings that people write are far below; the bounds
// keep other files from taking memory and time.
const (
	maxTokens = 20_000  // words and marks: the parser's time grows with their square
	maxNested = 64      // brackets, or dashes of lists that begin on one line
	maxVisits = 100_000 // values read, those of an alias each time that it is used
)

// Parse returns the value that data is, or false and has noted a problem.
func (f *File) Parse(data []byte) (Node, bool) {
	switch {
	case len(data) > MaxSize:
		f.Add("", Place{}, "it is larger than %d KiB: that is no configuration", MaxSize>>10)
		return nil, false
	case !utf8.Valid(data):
		f.Add("", Place{}, "it is not text in UTF-8: save it as such")
		return nil, false
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	if strings.HasPrefix(strings.TrimLeft(text, " \t\n"), "{") {
		// JSON may be indented by tabs, and has them nowhere else.
		text = strings.ReplaceAll(text, "\t", " ")
	}
	f.lines = strings.Split(text, "\n")
	tokens, err := safely(func() (token.Tokens, error) { return lexer.Tokenize(text), nil })
	if err == nil && !f.bounded(tokens) {
		return nil, false
	}
	var tree *ast.File
	if err == nil {
		// Duplicate keys are found here, all at once.
		tree, err = safely(func() (*ast.File, error) { return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) })
	}
	if err != nil {
		f.addSyntax(err)
		return nil, false
	}
	return f.root(tree)
}

// bounded reports whether the file is small and flat enough to be parsed.
func (f *File) bounded(tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		f.Add("", Place{}, "it holds more than %d words and marks: that is no configuration", maxTokens)
		return false
	}
	depth, line, dashes := 0, 0, 0 // dashes on the line
	for _, t := range tokens {
		if at := placeOf(t).Line; at != line {
			line, dashes = at, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		}
		if depth+dashes > maxNested {
			f.Add("", placeOf(t), "there are more than %d brackets or dashes within each other", maxNested)
			return false
		}
	}
	return true
}

// safely takes a panic of the parser for what it is: a file that it cannot read.
func safely[T any](parse func() (T, error)) (v T, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it cannot be read")
		}
	}()
	return parse()
}

// addSyntax tells what the parser says and where, but quotes nothing: what is a
// secret in a file that cannot be read is not known.
func (f *File) addSyntax(err error) {
	var at Place
	message := "it cannot be read"
	var syntax interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &syntax) {
		at = placeOf(syntax.GetToken())
		if m := syntax.GetMessage(); !strings.Contains(m, `"`) { // it may quote
			message = m
		}
	}
	line := ""
	if at.Line > 0 && at.Line <= len(f.lines) {
		line = f.lines[at.Line-1]
	}
	switch {
	case strings.Contains(message, "\t") || strings.HasPrefix(message, "tab "):
		message = "a tab cannot indent: use spaces"
	case strings.Contains(line, "${"):
		message += "; within { } and [ ] a value with ${...} has to be in quotes"
	default:
		message += "; look at what indents the line, at the space after each colon and dash, and at quotes and brackets"
	}
	f.Add("", at, "this is neither YAML nor JSON: %s", message)
}

// root returns the one value of the one document.
func (f *File) root(tree *ast.File) (Node, bool) {
	var body Node
	for _, doc := range tree.Docs {
		switch {
		case doc.Body == nil:
			continue
		case doc.Body.Type() == ast.DirectiveType:
			f.Add("", placeOf(doc.Body.GetToken()), "directives are not read here: remove it")
			return nil, false
		case body != nil:
			f.Add("", placeOfNode(doc.Body), "a second document begins: one file holds one configuration, remove one of them")
			return nil, false
		}
		body = doc.Body
	}
	if body == nil {
		f.Add("", Place{}, "it is empty")
		return nil, false
	}
	f.findAnchors(body)
	return body, true
}

// findAnchors notes what aliases may stand for.
func (f *File) findAnchors(body Node) {
	ast.Walk(visit(func(n Node) {
		anchor, ok := n.(*ast.AnchorNode)
		if !ok {
			return
		}
		name := anchor.Name.GetToken().Value
		if f.anchors[name] != nil {
			f.Add("", placeOf(anchor.Start), "there is an anchor &%s already: rename one of them", name)
			return
		}
		f.anchors[name] = anchor.Value
	}), body)
}

// visit is a function as an ast.Visitor.
type visit func(Node)

// Visit calls v and goes on.
func (v visit) Visit(n Node) ast.Visitor {
	v(n)
	return v
}

var _ ast.Visitor = visit(nil)
