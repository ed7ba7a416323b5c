/// One translation: reads the sender's bytes, which may be anything, and writes the receiver's.
struct TranslationRun {
    let plan: WirePlan
    var reader: WireReader
    var writer = WireWriter.empty
    let words: TranslationWords
    /// Where the fields of the structures that are under way begin in the sender's bytes.
    private var starts: [Int] = []

    init(_ plan: WirePlan, _ reader: WireReader, _ words: TranslationWords) {
        (self.plan, self.reader, self.words) = (plan, reader, words)
    }

    /// The fields of a body: a structure that is not aligned as one.
    mutating func body(_ root: TranslationStep) throws {
        switch root {
        case .structure(let fields): try self.fields(fields)
        default:
            let node = plan.nodes[Int(plan.root)]
            for field in plan.fields[Int(node.first)..<Int(node.last)] { try copy(field.node) }
        }
    }
    private mutating func value(_ step: TranslationStep) throws {
        switch step {
        case .copy(let node): try copy(node)
        case .array(let element, let alignment):
            try array(alignment) { run in try run.value(element) }
        case .optional(let wrapped, let alignment):
            try array(alignment, most: 1) { run in try run.value(wrapped) }
        case .dictionary(let key, let value):
            try array(8) { run in
                try run.align()
                try run.copy(key)
                try run.value(value)
            }
        case .structure(let fields):
            try align()
            try self.fields(fields)
        case .tagged(let cases): try tagged(cases)
        }
    }
    private mutating func align() throws(WireFault) {
        try reader.align(8)
        writer.align(8)
    }
    private mutating func array(
        _ alignment: Int, most: Int = .max, _ element: (inout Self) throws -> Void
    ) throws {
        let end = try reader.beginArray(elementAlignment: alignment)
        let (start, mark) = (reader.position, writer.beginArray(elementAlignment: alignment))
        var count = 0
        while reader.position < end {
            if count == most { throw WireFault(.optional, at: reader.position) }
            count += 1
            try element(&self)
        }
        try reader.endArray(end, elements: start)
        try writer.endArray(mark)
    }
    private mutating func fields(_ fields: TranslatedFields) throws {
        let base = starts.count
        for node in fields.nodes {
            starts.append(reader.position)
            try reader.skip(node, plan)
        }
        let end = reader.position
        for unsent in fields.unsent {
            reader.position = starts[base + unsent.place]
            if try reader.uint32() != 0 { throw words.lost(unsent.path) }
        }
        for part in fields.parts {
            switch part {
            case .from(let place, let step):
                reader.position = starts[base + place]
                try value(step)
            case .nothing(let alignment): _ = writer.beginArray(elementAlignment: alignment)
            }
        }
        // A small structure may become a large one, and there may be many of them.
        if writer.count > WireLimits.messageLength {
            throw RelayError(.tooLarge, "\(words.name): over \(WireLimits.messageLength) bytes, which D-Bus allows")
        }
        reader.position = end
        starts.removeLast(starts.count - base)
    }
    private mutating func tagged(_ cases: TranslatedCases) throws {
        try align()
        let start = reader.position
        let name = try reader.stringBytes()
        let type = plan.enums[Int(cases.type)]
        let place = type.variants.firstIndex { name.elementsEqual($0.utf8) }
        switch place.map({ cases.payloads[$0] }) ?? .unknown {
        case .unknown where !cases.isOpen: throw words.unknownCase(cases.path, name)
        case .unknown, .copy:
            reader.position = start
            try copy(cases.node)
        case .fields(let fields, let signature):
            reader.position = start
            // Checks what comes before the payload, and leaves the reader there.
            _ = try reader.variant(type, plan)
            writer.string(name)
            writer.signature(signature)
            if !fields.nodes.isEmpty { try reader.align(8) }
            if fields.parts.isEmpty { writer.byte(0) } else { writer.align(8) }
            try self.fields(fields)
        }
    }

    /// The same value, which may be aligned otherwise.
    private mutating func copy(_ index: Int32) throws {
        let node = plan.nodes[Int(index)]
        if (reader.position - writer.count) & (Int(node.widest) - 1) == 0 { return try copyBytes(index) }
        switch node.kind {
        case .byte: try copyBytes(index)
        case .int16, .uint16: writer.uint16(try reader.uint16())
        case .bool: writer.bool(try reader.bool())
        case .int32, .uint32: writer.uint32(try reader.uint32())
        case .int64, .uint64, .double: writer.uint64(try reader.uint64())
        case .string: writer.string(try reader.stringBytes())
        case .array: try array(Int(plan.nodes[Int(node.first)].alignment)) { run in try run.copy(node.first) }
        case .optional:
            try array(Int(plan.nodes[Int(node.first)].alignment), most: 1) { run in try run.copy(node.first) }
        case .dictionary:
            try array(8) { run in
                try run.align()
                try run.copy(node.first)
                try run.copy(node.last)
            }
        case .structure, .tagged:
            try align()
            try copyBytes(index)
        }
    }
    /// As they are: both sides align them in the same way.
    private mutating func copyBytes(_ index: Int32) throws {
        let start = reader.position
        try reader.skip(index, plan)
        writer.append(reader.bytes(0..<reader.position - start, from: start))
    }
}
