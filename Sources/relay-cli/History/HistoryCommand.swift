import RelayCore

/// `history` and `export`: what the journal has, printed on the thread that waits for it.
struct HistoryCommand {
    let options: HistoryOptions
    let service: String
    let timeout: Duration
    let caller: any ServiceCaller
    let output: Int32
    /// Microseconds since the Unix epoch.
    let now: () -> UInt64
    let note: (String) -> Void

    /// `printer` is told the one event that was asked for, if there is one. Returns when all is written, or nobody reads it.
    func run(_ printer: (_ only: String?) -> any JournalPrinter) throws(CLIFailure) {
        let reader = JournalReader(caller: caller, timeout: timeout)
        let discovery = Discovery(caller: caller, timeout: timeout)
        let selection = try Waiting.result { [options, service] in
            try await JournalSelection.find(options, service: service, discovery: discovery, reader: reader)
        }
        var loop = HistoryLoop(
            options, reader: reader, printer: printer(selection.only), output: OutputChannel(descriptor: output),
            now: now, note: note)
        try loop.run(selection.sources)
    }
}
