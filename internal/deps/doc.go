// Package deps has no code. Its tests hold the tree to its layout: imports run one way only, the core builds with few
// third-party modules, packages and files are named for what they hold, and pages hold programs that compile and links that
// lead somewhere.
//
// The tests of the layout need neither the network nor a package that compiles. What they refuse is a decision to be
// made, not a mistake to be worked around: where the rule is wrong for a good reason, change the rule, and say why in the
// commit.
package deps
