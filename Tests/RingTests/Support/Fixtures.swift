import Glibc
import RelayCore

enum RingTest1: EventInterface {
    static let name = "org.example.RingTest1"
    static let durability = Volatile()
    static var contract: Contract<Self> {
        Sample.self
        Note.self
    }
}
struct Sample: FixedLayoutEvent, Equatable {
    typealias Interface = RingTest1
    var at: Double, load: Float, cpu: UInt32, number: Int64
}
struct Note: DomainEvent, Equatable {
    typealias Interface = RingTest1
    var text: String, marks: [Int32]
}

/// A ring whose one event has any bytes, with its reader, in one process.
struct Pair {
    let waker = RingWaker()
    let writer: RingWriter

    init(capacity: Int = 4_096, base: UInt64 = 0, events: Int = 1) throws {
        writer = try RingWriter(
            "ring-test", events: (0..<events).map { RingEvent(name: "Event\($0)") },
            capacity: capacity, epoch: 7, base: base, waker: waker)
    }
    func reader(after: UInt64 = 0) throws -> RingReader {
        RingReader(try RingArea(receiving: writer.descriptor), after: after)
    }
    @discardableResult func publish(_ bytes: [UInt8], kind: Int = 0) throws -> UInt64 {
        try bytes.withUnsafeBytes { try writer.publish(kind, $0) }
    }
}

/// Bytes that no other sequence has.
func pattern(_ sequence: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: Int(truncatingIfNeeded: sequence) &* 37 &+ $0 &* 3) }
}

extension RingReader {
    /// The next step with its payload.
    mutating func step() throws -> (RingReader.Next, [UInt8]) {
        let step = try next()
        return (step, Array(payload))
    }
    /// All until there is nothing for now; ranges as they are told.
    mutating func drain() throws -> (
        records: [Stamp], payloads: [[UInt8]], other: [RingReader.Next], kinds: [Int]
    ) {
        var (records, payloads, other, kinds): ([Stamp], [[UInt8]], [RingReader.Next], [Int]) = ([], [], [], [])
        while true {
            switch try next() {
            case .record(let kind, let stamp):
                records.append(stamp)
                kinds.append(kind)
                payloads.append(Array(payload))
            case .empty: return (records, payloads, other, kinds)
            case .ended:
                other.append(.ended)
                return (records, payloads, other, kinds)
            case let step: other.append(step)
            }
        }
    }
}

/// For `#expect`, which copies what a property is asked of.
func news(_ reader: borrowing RingReader) -> Bool { reader.hasNews }

/// How many bytes of a file have memory.
func allocated(_ descriptor: Int32) -> Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_blocks) * 512 : -1
}
