/// The terminal's own colours, so that they suit its background.
enum Color {
    static let time: StaticString = "\u{1B}[2m"
    static let event: StaticString = "\u{1B}[1m"
    static let field: StaticString = "\u{1B}[36m"
    static let gap: StaticString = "\u{1B}[33m"
    static let reset: StaticString = "\u{1B}[0m"
}
