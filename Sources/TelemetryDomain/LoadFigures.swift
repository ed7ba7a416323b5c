/// /proc/loadavg.
struct LoadFigures: Equatable {
    /// Over 1, 5 and 15 minutes.
    let averages: (Double, Double, Double)
    let running: UInt32
    let threads: UInt32

    static func parse(_ text: ArraySlice<UInt8>) throws(ProcFault) -> LoadFigures {
        var scanner = ProcScanner(text)
        guard let one = scanner.decimal(), let five = scanner.decimal(), let fifteen = scanner.decimal() else {
            throw ProcFault(what: "three averages")
        }
        guard let running = scanner.number().flatMap({ UInt32(exactly: $0) }), scanner.take("/"),
            let threads = scanner.number().flatMap({ UInt32(exactly: $0) })
        else { throw ProcFault(what: "the number of threads") }
        return LoadFigures(averages: (one, five, fifteen), running: running, threads: threads)
    }
    static func == (a: Self, b: Self) -> Bool {
        a.averages == b.averages && a.running == b.running && a.threads == b.threads
    }
}
