/// The documents of a stream as its entries have set them, as a value.
struct PublishedDocuments: Sendable {
    struct Entry: Sendable {
        /// The fields of the state in the wire encoding.
        var fields: [UInt8]
        /// Of the last entry; 0: the state is the initial one.
        var sequence: UInt64
        /// The state itself, once it is known.
        var state: (any Sendable)?
        /// `PropertiesChanged` is due, as soon as signals go on.
        var isUnannounced = false
    }
    /// By the numbers of the events.
    private var entries: [Int: Entry] = [:]
    private(set) var hasUnannounced = false

    subscript(number: Int) -> Entry? { entries[number] }

    /// A document as it is before its first entry in this run.
    mutating func begin(_ number: Int, fields: [UInt8], sequence: UInt64, state: (any Sendable)?) {
        entries[number] = Entry(fields: fields, sequence: sequence, state: state)
    }
    /// A document's entry has its place.
    mutating func enter(_ number: Int, fields: [UInt8], sequence: UInt64) {
        entries[number] = Entry(fields: fields, sequence: sequence, isUnannounced: true)
        hasUnannounced = true
    }
    /// The state of this entry was read.
    mutating func know(_ number: Int, _ state: any Sendable, of sequence: UInt64) {
        if entries[number]?.sequence == sequence { entries[number]?.state = state }
    }
    /// Calls `announce` with what is not announced, in the order of the entries, until it returns false.
    mutating func announce(_ announce: (Int, Entry) -> Bool) {
        let due = entries.filter(\.value.isUnannounced).sorted { $0.value.sequence < $1.value.sequence }
        for (number, entry) in due {
            if !announce(number, entry) { return }
            entries[number]?.isUnannounced = false
        }
        hasUnannounced = false
    }
    /// What a copy of this has announced.
    mutating func wasAnnounced(_ copy: Self) {
        for number in entries.keys { entries[number]?.isUnannounced = copy.entries[number]?.isUnannounced ?? false }
        hasUnannounced = copy.hasUnannounced
    }
}
