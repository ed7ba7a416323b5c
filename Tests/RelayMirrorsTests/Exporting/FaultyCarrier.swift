import RelayCore
import Synchronization

@testable import RelayMirrors
/// A carrier that fails as a test says: at each call of its connections.
final class FaultyCarrier: MirrorCarrier {
    enum Fault {
        /// Nothing was done.
        case refused(RelayError)
        /// It was done, and nobody heard of it.
        case unheard
        /// Something else happens, before.
        case meanwhile(@Sendable () throws -> Void)
    }
    private let carrier: FileCarrier
    private struct State {
        var calls = 0
        var appends = 0
        var plan: @Sendable (_ call: Int, _ append: Int?) -> Fault? = { _, _ in nil }
    }
    private let state = Mutex(State())

    init(_ carrier: FileCarrier) { self.carrier = carrier }
    /// From now on; counted from 1.
    func plan(_ plan: @escaping @Sendable (_ call: Int, _ append: Int?) -> Fault?) {
        state.withLock { $0 = State(plan: plan) }
    }
    var calls: Int { state.withLock { $0.calls } }

    fileprivate func perform<Value>(
        isAppend: Bool = false, _ body: () async throws(RelayError) -> Value
    ) async throws(RelayError) -> Value {
        let fault = state.withLock { state in
            state.calls += 1
            if isAppend { state.appends += 1 }
            return state.plan(state.calls, isAppend ? state.appends : nil)
        }
        switch fault {
        case .refused(let error): throw error
        case .meanwhile(let other):
            do { try other() } catch { throw RelayError(.internalFailure, "\(error)") }
        case .unheard, nil: break
        }
        let value = try await body()
        if case .unheard = fault { throw RelayError(.timedOut, "nobody answers") }
        return value
    }
    func source(of channel: ChannelName) async throws(RelayError) -> any MirrorSource {
        try await perform { () throws(RelayError) in FaultySink(self, try carrier.sink(of: channel)) }
    }
    func sink(of channel: ChannelName) async throws(RelayError) -> any MirrorSink {
        try await perform { () throws(RelayError) in FaultySink(self, try carrier.sink(of: channel)) }
    }
    func channels() throws(RelayError) -> [ChannelName] { try carrier.channels() }
    func guarantee() -> String { carrier.guarantee() }
}
private final class FaultySink: MirrorSink {
    private let carrier: FaultyCarrier
    private let sink: any MirrorSink
    init(_ carrier: FaultyCarrier, _ sink: any MirrorSink) { (self.carrier, self.sink) = (carrier, sink) }

    func bounds() async throws(RelayError) -> ChannelBounds {
        try await carrier.perform { () async throws(RelayError) in try await sink.bounds() }
    }
    func message(_ number: UInt64) async throws(RelayError) -> [UInt8]? {
        try await carrier.perform { () async throws(RelayError) in try await sink.message(number) }
    }
    func messages(from number: UInt64, atMost bytes: Int) async throws(RelayError) -> MessageBatch? {
        try await carrier.perform { () async throws(RelayError) in
            try await sink.messages(from: number, atMost: bytes)
        }
    }
    func newest(_ kind: MirrorHeader.Kind) async throws(RelayError) -> UInt64? {
        try await carrier.perform { () async throws(RelayError) in try await sink.newest(kind) }
    }
    func wait(behind number: UInt64) async throws(RelayError) { try await sink.wait(behind: number) }
    func append(_ message: [UInt8], expecting last: UInt64) async throws(RelayError) -> Bool {
        try await carrier.perform(isAppend: true) { () async throws(RelayError) in
            try await sink.append(message, expecting: last)
        }
    }
}
