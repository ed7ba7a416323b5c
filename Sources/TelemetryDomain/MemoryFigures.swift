/// /proc/meminfo, in bytes.
struct MemoryFigures: Equatable {
    var total: UInt64 = 0
    var free: UInt64 = 0
    var available: UInt64 = 0
    var buffers: UInt64 = 0
    var cached: UInt64 = 0
    var swapTotal: UInt64 = 0
    var swapFree: UInt64 = 0

    private static let fields:
        [(name: StaticString, field: any WritableKeyPath<Self, UInt64> & Sendable, isNeeded: Bool)] =
            [
                ("MemTotal:", \.total, true), ("MemFree:", \.free, true), ("MemAvailable:", \.available, true),
                ("Buffers:", \.buffers, false), ("Cached:", \.cached, false), ("SwapTotal:", \.swapTotal, false),
                ("SwapFree:", \.swapFree, false),
            ]

    static func parse(_ text: ArraySlice<UInt8>) throws(ProcFault) -> MemoryFigures {
        var (scanner, figures, missing) = (ProcScanner(text), MemoryFigures(), fields)
        while !missing.isEmpty, var line = scanner.line() {
            guard let index = missing.firstIndex(where: { line.take($0.name) }) else { continue }
            let (name, field, _) = missing.remove(at: index)
            guard let number = line.number() else { throw ProcFault(what: "a number at '\(name)'") }
            let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: 1_024)
            if isTooLarge { throw ProcFault(what: "a possible number at '\(name)'") }
            figures[keyPath: field] = bytes
        }
        // What an older kernel, or one without swap, does not count is 0.
        for field in missing where field.isNeeded { throw ProcFault(what: "'\(field.name)'") }
        return figures
    }
}
