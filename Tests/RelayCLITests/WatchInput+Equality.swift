import RelayCore

@testable import relay_cli

/// For expectations: the same inputs in the same order.
func == (first: [WatchInput], second: [WatchInput]) -> Bool { first.map(\.text) == second.map(\.text) }

extension WatchInput {
    fileprivate var text: String {
        switch self {
        case .event(let event): "\(event)"
        case .gap(let interface, let gap): "gap of \(interface): \(gap)"
        case .state(let state): "\(state)"
        }
    }
}
