@testable import RelayCore

/// An action as what a caller performs, one after the other.
extension StreamMachine {
    enum Step {
        case show(Output)
        case attach(epoch: UInt64, after: UInt64)
        case read(after: UInt64)
    }
}

extension StreamMachine.Action {
    var steps: [StreamMachine.Step] {
        var steps = output.map { StreamMachine.Step.show($0) }
        switch request {
        case .attach(let epoch, let after)?: steps.append(.attach(epoch: epoch, after: after))
        case .read(let after)?: steps.append(.read(after: after))
        case nil: break
        }
        return steps
    }
    var gaps: [Gap] { output.compactMap { if case .gap(let gap) = $0 { gap } else { nil } } }
}
