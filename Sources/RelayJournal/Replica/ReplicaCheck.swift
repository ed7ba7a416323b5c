import RelayCore
import RelayWire

/// Whether a transaction fits what a replica has, before anything of it is done. Reads only.
struct ReplicaCheck {
    /// Where an interface is after the parts that were looked at.
    private struct Place {
        let index: Int?
        var sequence: UInt64 = 0
        /// All of them, if the transaction changes them.
        var runs: [StreamRun]?
        /// Everything above was removed.
        var kept = UInt64.max
        var schemas: [UInt32: ReplicaParts.Layout] = [:]
        var names: Set<String> = []
    }
    private let engine: JournalEngine
    private var places: [String: Place] = [:]

    init(_ engine: JournalEngine) { self.engine = engine }

    /// Throws `.invalidArgument`, `.conflict`, and SQLite's errors.
    mutating func check(_ part: ReplicaTransaction.Part) throws {
        if places[part.interface] == nil { places[part.interface] = try begin(part.interface) }
        guard var place = places[part.interface] else { return }
        func refusal(_ what: String) -> RelayError { self.refusal(what, part.interface, place) }
        let served = place.index.flatMap { engine.interfaces[$0].served }
        func conflict(_ what: String) -> RelayError {
            RelayError(
                .conflict,
                "\(part.interface): \(what), which the service that is attached to \(engine.file.path) cannot learn: end "
                    + "it, detach it, and apply this again")
        }
        if let keeps = part.keepsThrough, keeps < place.sequence {
            if served != nil { throw conflict("what is above #\(keeps) is removed") }
            (place.sequence, place.kept) = (keeps, min(place.kept, keeps))
            let runs = try place.runs ?? allRuns(place)
            place.runs = runs.filter { $0.first - 1 <= keeps }
        }
        if let runs = part.runs {
            if let fault = Self.fault(in: runs) { throw refusal(fault) }
            if served != nil, try runs != place.runs ?? allRuns(place) { throw conflict("its runs change") }
            place.runs = runs
        }
        if let base = part.base {
            if place.sequence > 0 || base > Self.limit { throw refusal("#\(base) as what it begins behind") }
            if served != nil, base > 0 { throw conflict("it begins behind #\(base)") }
            place.sequence = base
        }
        if let gap = part.gap {
            if gap.lowerBound != place.sequence + 1 || gap.upperBound > Self.limit {
                throw refusal("the gap from #\(gap.lowerBound) to #\(gap.upperBound)")
            }
            // Which may have had entries of them.
            if served?.hasDocuments == true { throw conflict("the states of documents are not known") }
            place.sequence = gap.upperBound
        }
        for (number, schema) in part.schemas where number < JournalEngine.firstRepetition {
            guard try add(schema, number, &place) else { continue }
            if served != nil { throw conflict("schema \(number), of \(schema.event), is new") }
        }
        if let events = part.events {
            if let fault = try fault(in: events, place) { throw refusal(fault) }
            if let served, served.epoch != events.epoch { throw conflict("run \(events.epoch) begins") }
            place.sequence += UInt64(events.events.count)
        }
        if let runs = place.runs, let last = runs.last, last.first - 1 > place.sequence {
            throw refusal("a run from #\(last.first) on, which it has not come to")
        }
        if let states = part.states { try check(states, of: part, &place, conflict) }
        let known = place.index.map { Set(engine.interfaces[$0].names.map(\.text)) } ?? []
        if known.union(place.names).count > ContractLimits.events {
            throw refusal("more than \(ContractLimits.events) names of events")
        }
        places[part.interface] = place
    }
    private func refusal(_ what: String, _ interface: String, _ place: Place) -> RelayError {
        RelayError(
            .invalidArgument,
            "\(interface): the replica \(engine.file.path) has come to #\(place.sequence), and cannot take \(what)")
    }
    private static let limit = UInt64(JournalExamination.limit)

    private func begin(_ interface: String) throws -> Place {
        try BusNames.check(interface, as: .interface)
        guard let index = engine.interfaces.firstIndex(where: { $0.logged.name == interface }) else {
            return Place(index: nil)
        }
        return Place(index: index, sequence: engine.interfaces[index].counters.sequence)
    }
    private func allRuns(_ place: Place) throws(SQLiteError) -> [StreamRun] {
        guard let index = place.index else { return [] }
        return try engine.sql.runs.all(of: engine.interfaces[index].id)
    }
    private static func fault(in runs: [StreamRun]) -> String? {
        if runs.isEmpty { return "no run" }
        if Set(runs.map(\.epoch)).count != runs.count || runs.contains(where: { $0.epoch == 0 }) {
            return "a run that is there twice, or has the epoch 0"
        }
        var before: UInt64 = 1
        for run in runs {
            if run.first < before || run.first > limit { return "a run from #\(run.first) on behind #\(before)" }
            before = run.first
        }
        return nil
    }
    private func layout(_ number: UInt32, _ place: Place) -> ReplicaParts.Layout? {
        place.schemas[number] ?? place.index.flatMap { engine.interfaces[$0].replica?.layouts[number] }
    }
    /// Returns whether it is a new one.
    private func add(_ schema: EventSchema, _ number: UInt32, _ place: inout Place) throws -> Bool {
        if let known = layout(number, place) {
            if known.schema == schema { return false }
            if try isUsed(number, place) {
                throw RelayError(
                    .invalidArgument,
                    "schema \(number) of \(schema.event) in \(engine.file.path) is that of \(known.schema.event), with "
                        + "other fields or under another name: one origin never gives a number twice")
            }
        }
        try BusNames.check(schema.event, as: .member)
        place.schemas[number] = try ReplicaParts.Layout(schema, name: -1)
        place.names.insert(schema.event)
        return true
    }
    /// Looks at all rows in the worst case: a number that an origin gave once more after a backup was restored.
    private func isUsed(_ number: UInt32, _ place: Place) throws(SQLiteError) -> Bool {
        if place.schemas[number] != nil { return true }
        guard let index = place.index else { return false }
        let (id, kept) = (
            SQLValue.integer(engine.interfaces[index].id), SQLValue.integer(Int64(clamping: place.kept))
        )
        for table in ["relay_documents", "relay_events"] {
            let row = try engine.own(
                "SELECT 1 FROM \(table) WHERE interface = ? AND schema = ? AND sequence <= ? AND length(body) > 0 LIMIT 1"
            ).integers(id, .integer(Int64(number)), kept)
            if row != nil { return true }
        }
        return false
    }

    // MARK: Events

    private func fault(in events: ReplicaEvents, _ place: Place) throws(SQLiteError) -> String? {
        let first = events.first
        guard first == place.sequence + 1, UInt64(events.events.count) <= Self.limit - place.sequence,
            let last = events.events.isEmpty ? nil : place.sequence + UInt64(events.events.count)
        else { return "\(events.events.count) events from #\(first) on" }
        let (begin, end) = (try run(of: first, place), try run(of: last, place))
        if begin != events.epoch || end != events.epoch {
            return "#\(first) to #\(last) of run \(events.epoch): the runs that it has say otherwise"
        }
        return events.bytes.withUnsafeBytes { bytes in
            var (sequence, number): (UInt64, UInt32?) = (first, nil)
            var layout: ReplicaParts.Layout?
            for event in events.events {
                if event.schema != number {
                    (number, layout) = (event.schema, self.layout(event.schema, place))
                }
                guard let layout else { return "#\(sequence) of schema \(event.schema), which it lacks" }
                guard 0...bytes.count ~= event.body.lowerBound, event.body.upperBound <= bytes.count,
                    event.body.count <= Int(Database.longestOwnValue)
                else { return "#\(sequence), whose body is not there, or too long" }
                let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
                guard let stamp = Stamp(endOf: body, epoch: events.epoch), stamp.sequence == sequence,
                    stamp.previous < sequence
                else { return "#\(sequence), whose stamp does not fit its place" }
                if layout.fieldsLength(body) == nil {
                    return "#\(sequence), whose body is not of schema \(event.schema)"
                }
                sequence += 1
            }
            return nil
        }
    }
    private func run(of sequence: UInt64, _ place: Place) throws(SQLiteError) -> UInt64? {
        if let runs = place.runs { return runs.last { $0.first <= sequence }?.epoch }
        guard let index = place.index else { return nil }
        return try engine.sql.runs.run(before: sequence + 1, of: engine.interfaces[index].id)?.epoch
    }

    // MARK: States

    private func check(
        _ states: ReplicaStates, of part: ReplicaTransaction.Part, _ place: inout Place,
        _ conflict: (String) -> RelayError
    ) throws {
        for name in states.last.keys { try BusNames.check(name, as: .member) }
        place.names.formUnion(states.last.keys)
        place.names.formUnion(states.documents.map(\.name))
        let known = known(place)
        for document in states.documents {
            let number = ReplicaParts.number(document.schema, among: part.schemas, known)
            guard let number, let layout = layout(number, place), layout.schema.event == document.name else {
                throw refusal(
                    "the document \(document.name) of schema \(document.schema), which it lacks", part.interface, place)
            }
            let isWhole = document.fields.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                do throws(WireFault) { try reader.skip(layout.skip) } catch { return false }
                return reader.isAtEnd
            }
            if !isWhole {
                throw refusal(
                    "the document \(document.name), whose state is not of schema \(number)", part.interface, place)
            }
            guard let index = place.index, engine.interfaces[index].served != nil,
                document.sequence <= place.sequence
            else { continue }
            if try engine.changes(document, position: states.position, of: index) {
                throw conflict("the document \(document.name) has another state")
            }
        }
    }
    /// The schemas that rows may have after the parts that were looked at.
    private func known(_ place: Place) -> [UInt32: EventSchema] {
        var known = place.index.flatMap { engine.interfaces[$0].replica?.layouts.mapValues(\.schema) } ?? [:]
        for (number, layout) in place.schemas { known[number] = layout.schema }
        return known
    }
}
