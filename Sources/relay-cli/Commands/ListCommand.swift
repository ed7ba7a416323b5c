/// `list`: what the service offers.
struct ListCommand {
    let options: ListOptions
    let service: String
    let style: OutputStyle
    let timeout: Duration
    let caller: any ServiceCaller

    /// What goes to stdout, and to stderr. Throws `CLIFailure`.
    func run() async throws -> (output: [UInt8], note: String?) {
        let catalogue = try await Discovery(caller: caller, timeout: timeout).catalogue()
        let entries = options.all ? catalogue.entries : catalogue.offered
        var output = ByteBuffer()
        ListPrinter(style: style).append(entries, to: &output)
        let note =
            entries.isEmpty
            ? "\(service) has no interface built with RelayCore" + (options.all ? "" : "; --all shows what it has")
            : nil
        return (output.bytes, note)
    }
}
