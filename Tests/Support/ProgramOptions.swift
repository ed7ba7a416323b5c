/// `--key value` pairs, for the programs that tests start: what is wrong with them is the test's fault.
package struct ProgramOptions {
    private var values: [String: String] = [:]

    package init(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        while let key = rest.popFirst(), let value = rest.popFirst() { values[key] = value }
    }
    package subscript(_ key: String) -> String? { values["--" + key] }
    package func required(_ key: String) -> String {
        guard let value = self[key] else { fatalError("--\(key) is missing") }
        return value
    }
}
