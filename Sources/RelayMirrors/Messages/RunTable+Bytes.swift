import RelayCore
import RelayWire

/// As it is in a snapshot, and in a replica's file: `a(tt)`, the runs, then `at`, the undone ones by rising epoch.
extension RunTable {
    /// About so many bytes.
    var size: Int { 32 + runs.count * 16 + undone.count * 8 }

    func write(into writer: inout WireWriter) throws(RelayError) {
        try Stream1.write(runs, into: &writer)
        let epochs = writer.beginArray(elementAlignment: 8)
        for epoch in undone.sorted() { writer.uint64(epoch) }
        try writer.endArray(epochs)
    }
    /// Throws for what is no table.
    init(_ reader: inout WireReader) throws(WireFault) {
        let start = reader.position
        let runs = try Stream1.readRuns(&reader)
        let undone = try reader.elements { reader throws(WireFault) in try reader.uint64() }
        self.init(runs, undone: Set(undone))
        if epochs.count != runs.count + undone.count || epochs.contains(0) {
            throw WireFault(.payload("a run that is there twice, or has the epoch 0"), at: start)
        }
        var before: UInt64 = 1
        for run in runs {
            if run.first < before || run.first > MirrorHeader.lastSequence {
                throw WireFault(.payload("a run from #\(run.first) on"), at: start)
            }
            before = run.first
        }
    }
}
