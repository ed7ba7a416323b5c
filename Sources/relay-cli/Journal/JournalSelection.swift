import RelayCore
import RelayTool
import RelayWire

/// Which journals to read, and which events of each.
struct JournalSelection: Sendable {
    struct Source: Sendable {
        let interface: String
        /// nil: all events.
        let names: Set<String>?
        let schemas: [UInt32: EventSchema]
    }
    /// By the interfaces' names; at least one.
    let sources: [Source]
    /// The service's introspection data, with the events that it had before.
    let offered: [IntrospectedInterface]
    /// The interfaces and events that were asked for.
    let events: EventSelection
    /// The one event that was asked for, if there is one.
    var only: String? {
        guard sources.count == 1, let names = sources[0].names, names.count == 1 else { return nil }
        return names.first
    }

    /// Asks the service. Throws `ServiceAbsent`, or `CLIFailure`: `.usage` for an event that it has not, `.badValue`
    /// for events that it does not keep.
    static func find(
        _ range: JournalRange, service: String, discovery: Discovery, reader: JournalReader
    ) async throws -> JournalSelection {
        var catalogue = try await discovery.catalogue()
        var journals: [String: [UInt32: EventSchema]] = [:]
        for entry in catalogue.offered where try await reader.isDurable(entry.interface.name) {
            let schemas = try await reader.schemas(of: entry.interface.name)
            journals[entry.interface.name] = schemas
            catalogue.add(formerEvents: schemas.values.map(\.event), of: entry.interface.name)
        }
        let selection = try catalogue.selection(of: range.events)
        for event in range.events {
            let interfaces = try catalogue.selection(of: [event]).names.keys.sorted()
            if interfaces.allSatisfy({ journals[$0] == nil }) {
                throw CLIFailure(
                    .badValue,
                    "\(interfaces.joined(separator: " and ")) keeps no events, so there is no history of '\(event)'; "
                        + "'watch' shows it as it happens")
            }
        }
        let sources = selection.names.sorted { $0.key < $1.key }.compactMap { interface, names in
            journals[interface].map { Source(interface: interface, names: names, schemas: $0) }
        }
        if sources.isEmpty {
            throw CLIFailure(
                .badValue, "\(service) keeps no events, so there is no history; 'watch' shows them as they happen")
        }
        try checkSequence(range.since, "since", sources)
        try checkSequence(range.until, "until", sources)
        return JournalSelection(
            sources: sources, offered: catalogue.offered.map(\.interface), events: selection)
    }

    private static func checkSequence(_ point: StreamPoint?, _ option: String, _ sources: [Source]) throws(CLIFailure) {
        guard case .sequence(let sequence) = point, sources.count > 1 else { return }
        throw CLIFailure(
            .usage,
            "'--\(option) \(sequence)' is a sequence of one interface, but these were asked for: "
                + sources.map(\.interface).joined(separator: ", ") + "; name events of one, or give a time")
    }
}
