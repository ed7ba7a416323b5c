@testable import RelayCore

extension StreamHistory {
    /// Up to where the history of a subscriber is that of the log, which has come to `head`. Of a log that has no other
    /// runs than are known here.
    func from(epoch: UInt64, after: UInt64, ancestry: [StreamRun] = [], head: UInt64) -> UInt64 {
        let finding = common(RunQuestion(epoch: epoch, after: after, ancestry: ancestry))
        guard case .known(let common?) = finding else { return 0 }
        return common.from(head: head)
    }
}
