/// What an interface carries.
public struct Contract<Interface: EventInterface>: Sendable {
    package let members: [ContractMember<Interface>]

    package var names: [String] { events.map { $0.name } + commands.map { $0.name } }

    /// The types of the events, in the order of declaration.
    public var events: [any DomainEvent<Interface>.Type] {
        members.compactMap { if case .event(let type) = $0.kind { type } else { nil } }
    }
    /// The types of the commands, in the order of declaration.
    public var commands: [any Command<Interface>.Type] {
        members.compactMap { if case .command(let type) = $0.kind { type } else { nil } }
    }
}
