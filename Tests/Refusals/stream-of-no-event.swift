// expect: requires that 'String' conform to 'Event'
import RelayCore

func follow(_ events: EventPublisher) { _ = events.events(of: String.self) }
