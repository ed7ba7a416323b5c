import CNats
import Glibc
import RelayCore
import RelayMirrors

/// A connection to a server, with JetStream's context. It never reconnects: what a server forgot when it died ends the
/// connection, as MIRRORS.md asks.
///
/// Any thread may use it. All calls wait for the server.
final class NatsConnection: Sendable {
    // libnats locks what these stand for: any thread may use them, until both are released here.
    nonisolated(unsafe) private let connection: OpaquePointer
    nonisolated(unsafe) private let context: OpaquePointer
    private let patience: Int64

    /// Connects to one of the servers. Throws `.unavailable`, `.notPermitted`, `.timedOut`.
    init(_ settings: NatsSettings, name: String) throws(RelayError) {
        let patience = Int64(settings.patience / .milliseconds(1))
        self.patience = patience
        var connection: OpaquePointer?
        var context: OpaquePointer?
        do throws(NatsFailure) {
            try Self.withOptions(settings, name, patience) { (options) throws(NatsFailure) in
                try nats { natsConnection_Connect(&connection, options) }
            }
            var options = jsOptions()
            try nats { jsOptions_Init(&options) }
            options.Wait = patience
            try nats { natsConnection_JetStream(&context, connection, &options) }
        } catch {
            natsConnection_Destroy(connection)
            throw error.error("cannot connect to \(settings.shown)")
        }
        guard let connection, let context else {
            throw RelayError(.internalFailure, "libnats has made no connection, and no error")
        }
        (self.connection, self.context) = (connection, context)
    }
    deinit {
        jsCtx_Destroy(context)
        natsConnection_Destroy(connection)
    }

    private static func withOptions(
        _ settings: NatsSettings, _ name: String, _ patience: Int64,
        _ body: (OpaquePointer?) throws(NatsFailure) -> Void
    ) throws(NatsFailure) {
        var options: OpaquePointer?
        try nats { natsOptions_Create(&options) }
        defer { natsOptions_Destroy(options) }
        // By the list: SetURL takes one, and no several with commas between.
        var servers = settings.servers.map { UnsafePointer(strdup($0)) }
        defer { for server in servers { free(UnsafeMutablePointer(mutating: server)) } }
        try nats { natsOptions_SetServers(options, &servers, Int32(servers.count)) }
        try nats { natsOptions_SetName(options, name) }
        try nats { natsOptions_SetTimeout(options, patience) }
        try nats { natsOptions_SetAllowReconnect(options, false) }
        // A peer that is gone without a word is missed after two of these.
        try nats { natsOptions_SetPingInterval(options, 5_000) }
        if let credentials = settings.credentials {
            try nats { natsOptions_SetUserCredentialsFromFiles(options, credentials, nil) }
        }
        if let tls = settings.tls {
            try nats { natsOptions_SetSecure(options, true) }
            if let authorities = tls.authorities {
                try nats { natsOptions_LoadCATrustedCertificates(options, authorities) }
            }
            if let certificate = tls.certificate, let key = tls.key {
                try nats { natsOptions_LoadCertificatesChain(options, certificate, key) }
            }
        }
        try body(options)
    }

    var isOpen: Bool { natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED }
    /// What the server said last that was no answer, such as that something is not permitted; empty: nothing.
    var complaint: String {
        var text: UnsafePointer<CChar>?
        _ = natsConnection_GetLastError(connection, &text)
        return text.map { String(cString: $0) } ?? ""
    }

    /// The one of the servers that it is connected to.
    var connectedURL: String? {
        var url = [CChar](repeating: 0, count: 1_024)
        if natsConnection_GetConnectedUrl(connection, &url, url.count) != NATS_OK { return nil }
        return String(decoding: url.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    /// What is answered to a request without a body; nil: nothing in time.
    func answer(to subject: String, within patience: Duration) -> String? {
        var message: OpaquePointer?
        let status = natsConnection_RequestString(
            &message, connection, subject, "", Int64(patience / .milliseconds(1)))
        guard status == NATS_OK, let message else { return nil }
        return String(decoding: NatsMessage(message, number: 0).bytes, as: UTF8.self)
    }

    /// Asks the server, on a thread that may wait.
    ///
    /// - Parameter what: what is tried, as the beginning of a sentence.
    func ask<Result: Sendable>(
        _ what: @autoclosure @Sendable () -> String,
        _ body: @escaping @Sendable (NatsConnection) throws(NatsFailure) -> Result
    ) async throws(RelayError) -> Result {
        try await blocking { () throws(RelayError) in
            do throws(NatsFailure) { return try body(self) } catch {
                // What is not permitted is answered by silence, and a complaint.
                let (complaint, failure) = (complaint, error.error(what()))
                if complaint.contains("Permissions Violation") {
                    throw RelayError(.notPermitted, "\(failure.message): \(complaint)", cause: error)
                }
                throw failure
            }
        }
    }

    // MARK: Streams

    struct StreamState {
        let first: UInt64
        let last: UInt64
        /// When it was made, in nanoseconds: another stream of the same name has another time.
        let made: Int64
    }
    /// nil: there is no such stream.
    func state(of stream: String) throws(NatsFailure) -> StreamState? {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        do throws(NatsFailure) {
            try jetStream { js_GetStreamInfo(&info, context, stream, nil, &$0) }
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
        defer { jsStreamInfo_Destroy(info) }
        guard let info = info?.pointee else { return nil }
        let state = info.State
        // Further than any server comes: what is above is no number of a message.
        let last = min(state.LastSeq, MirrorHeader.lastSequence)
        return StreamState(
            first: state.Msgs == 0 ? last + 1 : min(state.FirstSeq, last + 1), last: last, made: info.Created)
    }
    /// Makes a stream, if there is none of its name.
    func make(_ stream: String, _ subjects: String, _ settings: NatsSettings) throws(NatsFailure) {
        var configuration = jsStreamConfig()
        try nats { jsStreamConfig_Init(&configuration) }
        configuration.Storage = js_FileStorage
        configuration.Replicas = Int64(settings.replicas)
        if let bytes = settings.limits.bytes { configuration.MaxBytes = Int64(clamping: bytes) }
        if let age = settings.limits.age { configuration.MaxAge = Int64(age / .nanoseconds(1)) }
        configuration.AllowDirect = true
        let status = stream.withCString { name in
            subjects.withCString { subject in
                var subject: UnsafePointer<CChar>? = subject
                // The pointers are used during the call.
                return withUnsafeMutablePointer(to: &subject) { subjects in
                    configuration.Name = name
                    (configuration.Subjects, configuration.SubjectsLen) = (subjects, 1)
                    var reason = jsErrCode(0)
                    let status = js_AddStream(nil, context, &configuration, nil, &reason)
                    return reason == JSStreamNameExistErr ? NATS_OK : status
                }
            }
        }
        try nats { status }
    }
    /// The names of all streams that this account may see.
    func streams() throws(NatsFailure) -> [String] {
        var list: UnsafeMutablePointer<jsStreamNamesList>?
        do throws(NatsFailure) {
            try jetStream { js_StreamNames(&list, context, nil, &$0) }
        } catch {
            if error.isAbsence { return [] }
            throw error
        }
        defer { jsStreamNamesList_Destroy(list) }
        guard let list = list?.pointee else { return [] }
        return (0..<Int(list.Count)).compactMap { list.List[$0].map { String(cString: $0) } }
    }

    // MARK: Messages

    /// Appends to a stream, if its last message has this number. Returns the message's number; nil: the stream ends
    /// elsewhere.
    func append(
        _ message: [UInt8], to subject: String, headers: [String: String] = [:], expecting last: UInt64
    ) throws(NatsFailure) -> UInt64? {
        var made: OpaquePointer?
        try nats {
            message.withUnsafeBytes { bytes in
                natsMsg_Create(
                    &made, subject, nil, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
        }
        defer { natsMsg_Destroy(made) }
        // By the header itself: the option leaves a 0 out.
        try nats { natsMsgHeader_Set(made, "Nats-Expected-Last-Sequence", "\(last)") }
        for (name, value) in headers { try nats { natsMsgHeader_Set(made, name, value) } }
        var options = jsPubOptions()
        try nats { jsPubOptions_Init(&options) }
        options.MaxWait = patience
        var answer: UnsafeMutablePointer<jsPubAck>?
        do throws(NatsFailure) {
            try jetStream { js_PublishMsg(&answer, context, made, &options, &$0) }
        } catch {
            if error.reason == JSStreamWrongLastSequenceErr.rawValue { return nil }
            throw error
        }
        defer { jsPubAck_Destroy(answer) }
        return answer?.pointee.Sequence
    }
    /// nil: there is none of this number.
    func message(_ number: UInt64, of stream: String) throws(NatsFailure) -> NatsMessage? {
        try found { (message, reason) in js_GetMsg(&message, context, stream, number, nil, &reason) }
    }
    /// The newest one of a subject; nil: there is none.
    func newest(_ subject: String, of stream: String) throws(NatsFailure) -> NatsMessage? {
        try found { (message, reason) in js_GetLastMsg(&message, context, stream, subject, nil, &reason) }
    }
    private func found(
        _ call: (inout OpaquePointer?, inout jsErrCode) -> natsStatus
    ) throws(NatsFailure) -> NatsMessage? {
        var message: OpaquePointer?
        do throws(NatsFailure) { try jetStream { call(&message, &$0) } } catch {
            if error.isAbsence { return nil }
            throw error
        }
        return message.map { NatsMessage($0, number: natsMsg_GetSequence($0)) }
    }
    /// Begins to read a stream at a number.
    func read(_ channel: NatsChannel, from number: UInt64) throws(NatsFailure) -> NatsReading {
        var options = jsSubOptions()
        try nats { jsSubOptions_Init(&options) }
        options.Ordered = true
        options.Config.DeliverPolicy = js_DeliverByStartSequence
        options.Config.OptStartSeq = max(number, 1)
        return try NatsReading(from: number) { (subscription, handler, inbox) throws(NatsFailure) in
            let stream = channel.stream
            try jetStream { reason in
                stream.withCString { name in
                    options.Stream = name
                    return js_Subscribe(
                        &subscription, context, channel.subjects, handler, inbox, nil, &options, &reason)
                }
            }
            // The inbox has the bound: where it is full, its messages wait here, and then at the server.
            try nats { natsSubscription_SetPendingLimits(subscription, -1, -1) }
        }
    }
}

/// A message, for as long as this exists.
struct NatsMessage: ~Copyable {
    private let message: OpaquePointer
    let number: UInt64

    init(_ message: OpaquePointer, number: UInt64) { (self.message, self.number) = (message, number) }
    deinit { natsMsg_Destroy(message) }

    /// nil: it has no such header.
    func header(_ name: String) -> String? {
        var value: UnsafePointer<CChar>?
        guard natsMsgHeader_Get(message, name, &value) == NATS_OK, let value else { return nil }
        return String(cString: value)
    }
    var bytes: [UInt8] {
        // Copied: libnats's bytes live as long as the message.
        guard let data = natsMsg_GetData(message) else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: Int(natsMsg_GetDataLength(message))))
    }
}
