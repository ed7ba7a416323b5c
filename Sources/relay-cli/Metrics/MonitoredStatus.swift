import RelayCore
import RelayTool
import RelayWire

/// What a service's `Status` has for monitors.
struct MonitoredStatus: Equatable, Sendable {
    struct Figure: Equatable, Sendable {
        let name: String
        /// In the order of their names.
        let labels: [String: String]
        let value: UInt64
    }
    /// A service says more than this to no purpose.
    private static let mostFigures = 10_000

    /// Of the interface.
    var figures: [Figure] = []
    /// Of the service as a whole: the same from each of its interfaces.
    var serviceFigures: [Figure] = []
    /// The numbers that stand by themselves: `Events`, `WalBytes`.
    var numbers: [String: UInt64] = [:]
    var flags: [String: Bool] = [:]
    /// Of the Relay that the service is built with; nil: it does not report it.
    var version: String?

    private static let figuresSignature = "a(sa{ss}t)"

    /// A value of another type than expected counts as absent.
    static func read(_ reader: inout WireReader) throws(WireFault) -> MonitoredStatus {
        var status = MonitoredStatus()
        try StatusReply.walk(&reader) { (name, signature, reader) throws(WireFault) in
            switch (name, signature.text) {
            case ("Figures", figuresSignature): status.figures = try figures(&reader)
            case ("ServiceFigures", figuresSignature): status.serviceFigures = try figures(&reader)
            case ("Version", "s"): status.version = try reader.string()
            case (_, "t"): status.numbers[name] = try reader.uint64()
            case (_, "b"): status.flags[name] = try reader.bool()
            default: return false
            }
            return true
        }
        return status
    }
    private static func figures(_ reader: inout WireReader) throws(WireFault) -> [Figure] {
        var found: [Figure] = []
        let end = try reader.beginArray(elementAlignment: 8)
        let start = reader.position
        while reader.position < end {
            try reader.align(8)
            let name = try reader.string()
            var labels: [String: String] = [:]
            let labelsEnd = try reader.beginArray(elementAlignment: 8)
            let labelsStart = reader.position
            while reader.position < labelsEnd {
                try reader.align(8)
                let label = try reader.string()
                labels[label] = try reader.string()
            }
            try reader.endArray(labelsEnd, elements: labelsStart)
            let figure = Figure(name: name, labels: labels, value: try reader.uint64())
            if found.count < mostFigures { found.append(figure) }
        }
        try reader.endArray(end, elements: start)
        return found
    }
}
