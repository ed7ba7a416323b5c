import RelayCore
import RelayTool

/// Which events a verb shows, and what of them.
struct EventView: Equatable, Sendable {
    var filter: EventFilter?
    /// The names of fields, in their order; nil: all.
    var fields: [String]?
    var template: EventTemplate?
}

extension EventView {
    /// Whether the present states of documents come first.
    var showsStates: Bool { filter == nil && template == nil }

    static let whereOption = Option<String?>(
        "where", expression, "only events for which this holds")
    static let fieldsOption = Option<[String]?>(
        "fields", .list(of: fieldName), "only these fields, with commas between, in this order")
    static let formatOption = Option<String?>(
        "format", template,
        "a line by a template, such as '{sequence} {title}'")
    static let options: [any DeclaredOption] = [whereOption, fieldsOption, formatOption]

    private static let fieldName = ValueKind("FIELDS") { text throws(Unfit) in
        let isName = text.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isAlphabetic || "0"..."9" ~= $0 }
        if text.isEmpty || !isName { throw Unfit("is no field's name; 'list' shows them") }
        return text
    }
    private static let expression = ValueKind("EXPRESSION") { text throws(Unfit) in
        do throws(FilterFault) { _ = try FilterParser.parse(text) } catch { throw error.unfit("expression", text) }
        return text
    }
    private static let template = ValueKind("FORMAT") { text throws(Unfit) in
        do throws(FilterFault) { _ = try EventTemplate(text) } catch { throw error.unfit("template", text) }
        return text
    }

    /// What the options take.
    static let details: [Prose] = [
        "EXPRESSION compares fields with values, and joins comparisons by &&, || and !:",
        .terms([
            "capacity > 5": "numbers by == != < <= > >=, exactly, whatever their types",
            "title ~ \"Kit\"": "a text by a POSIX extended regular expression; !~ is the opposite",
            "title contains \"Kit\"": "a text with another in it; a list with an element; a table with a key",
            "state == paused": "values that have names",
            "colour != null": "optional fields; a comparison with a missing value is false, != is true",
            "origin.room == 3": "fields of fields, keys of tables",
            "publishedAt > \"13:00\"": "times, as --since takes them; also 64-bit fields, as microseconds since 1970",
            "isOpen && !isFull": "fields that are true or false",
        ]),
        """
        Besides an event's fields there are sequence, previous, epoch, publishedAt, event and interface. Events that
        lack a field of the expression are not shown, nor is the present state of a document, which 'watch' shows first
        otherwise. An expression that fits none of the events is an error.
        """,
        """
        FORMAT has fields in braces, {origin.room} too, and {time}, {transport}, and what EXPRESSION knows besides;
        '{{' and '}}' are braces, '\\n' and '\\t' a line's end and a tab. What an event lacks is empty. Gaps are reported
        on stderr.
        """,
    ]

    init(_ line: ParsedLine, at time: LocalTime) throws(UsageError) {
        fields = line[Self.fieldsOption]
        var seen: Set<String> = []
        for name in fields ?? [] where !seen.insert(name).inserted {
            throw UsageError("option '--fields': '\(name)' is given twice")
        }
        if let text = line[Self.whereOption] {
            do throws(FilterFault) { filter = try EventFilter(text, at: time) } catch {
                throw error.usage(Self.whereOption.name, text)
            }
        }
        guard let text = line[Self.formatOption] else { return }
        if fields != nil { throw UsageError("'--format' names the fields itself: '--fields' does not go with it") }
        if line[GlobalOptions.json] { throw UsageError("two forms were asked for; give one of --json and --format") }
        do throws(FilterFault) { template = try EventTemplate(text) } catch {
            throw error.usage(Self.formatOption.name, text)
        }
    }

    /// Throws `.usage` for fields that none of the chosen events has.
    func check(_ interfaces: [IntrospectedInterface], _ selection: EventSelection) throws(CLIFailure) {
        var fields = EventFields()
        fields.learn(interfaces)
        let chosen = fields.known.filter { key, _ in
            guard let names = selection.names[key.interface] else { return false }
            return names?.contains(key.name) ?? true
        }
        if chosen.isEmpty { return }
        let known = Set(chosen.values.joined().map(\.name))
        for name in self.fields ?? [] where !known.contains(name) {
            if let entry = StampName(rawValue: name) {
                throw CLIFailure(
                    .usage,
                    "option '--fields': '\(entry.rawValue)' is no field, and is not left out of a line; "
                        + "'--format' chooses all that a line has: --format '{\(entry.rawValue)} …'")
            }
            throw CLIFailure(
                .usage,
                "option '--fields': none of these events has a field '\(name)'"
                    + NearMiss.hint(for: name, among: known))
        }
        guard let template else { return }
        do throws(FilterFault) { try template.check(chosen) } catch {
            let usage = error.usage(Self.formatOption.name, template.text)
            throw CLIFailure(.usage, usage.message, excerpt: usage.excerpt)
        }
    }
}
