/// A program's long options. The raw values are what getopt_long reports: above any short option's character.
package protocol OptionName: RawRepresentable, CaseIterable, Equatable, Sendable where RawValue == Int32 {
    /// Without the dashes.
    var name: String { get }
    /// What the help calls the option's argument; nil for a switch.
    var placeholder: String? { get }
    var help: String { get }
    /// The option for `-h` and `--help`.
    static var helpOption: Self { get }
}

extension OptionName {
    /// The options as the help shows them, a line each.
    package static func lines(_ keys: [Self], width: Int = 20) -> String {
        keys.map { key in
            let form = "--" + key.name + (key.placeholder.map { " " + $0 } ?? "")
            return "  " + form + String(repeating: " ", count: max(2, width - form.count)) + key.help + "\n"
        }.joined()
    }
}
