import Synchronization
import RelayWire

/// How a service comes to its name.
extension ServiceCore {
    /// Connects and takes the name. Throws `Conflict` when somebody else has it.
    func start() async throws {
        let connection = try await BusConnection.connect(to: bus, on: loop, handler: self, timing: timing.bus)
        do {
            loop.execute { [self] in self.connection.onLoop = connection }
            try await addRules(connection)
            try await checkUnits(connection)
            let isOwn = await isOwn(connection)
            // Connected before the name is ours: nothing that is published from then on is left out.
            let backlog = bus.linked == nil ? BusBacklog(connection, notices, timing) : nil
            for stream in tree.streams { stream.connect(connection, isOwn: isOwn, backlog) }
            try await takeName(connection)
            for stream in tree.streams { stream.announce() }
        } catch {
            for stream in tree.streams { stream.disconnect() }
            connection.close()
            throw error
        }
    }
    /// Throws `Unavailable` on a bus that does not report what a requirement needs: nobody could ever meet it.
    private func checkUnits(_ connection: BusConnection) async throws {
        let all = interfaces.flatMap { one in
            [(one.name, one.requirement)] + one.commands.values.map { ("\(one.name).\($0.name)", $0.requirement) }
        }
        guard let (what, requirement) = all.first(where: { $0.1.needsUnit }) else { return }
        let own = try await connection.call(PeerCredentials.request(for: connection.uniqueName))
        if !own.descriptors.isEmpty { return }
        var program = "\(bus)"
        if let answer = try? await connection.call(PeerCredentials.request(for: "org.freedesktop.DBus")),
            let process = try? PeerCredentials(answer).processID
        {
            program += " (\(SystemProcessFiles.program(of: process) ?? "unknown"), process \(process))"
        }
        throw RelayError(
            .unavailable,
            "\(what) requires \(requirement), and \(program) cannot say which process a peer is: "
                + "\(PeerCredentials.noProcess); or require a user or a group")
    }
    /// Whether the bus runs as our own user, as a session's does, and so admits no other user unless that user allows
    /// it. It does not matter how its address was given. If the bus's user cannot be found out, the answer is no.
    private func isOwn(_ connection: BusConnection) async -> Bool {
        if case .system = bus.kind { return false }
        if case .systemAddress = bus.kind { return false }
        var reason = "it did not say"
        // The whole run rests on the answer, and one may be lost.
        for _ in 1...3 {
            do {
                let request = try PeerCredentials.request(for: "org.freedesktop.DBus")
                let answer = try await connection.call(request, timeout: .seconds(10))
                if let user = try PeerCredentials(answer).userID { return user == accounts.ownUserID }
            } catch {
                reason = (error as? RelayError)?.message ?? "\(error)"
            }
        }
        for interface in interfaces where interface.requirement.admitsSameUser && !interface.requirement.isAnyone {
            notices.report(
                .lookUpFailed, .warning,
                "the user of \(bus) is not known (\(reason)): in this run, signals of \(interface.name) go only to peers "
                    + "that attach, as every relay does; start the service again for other subscribers",
                of: Notice.Subject(interface: interface.name))
        }
        return false
    }
    private func takeName(_ connection: BusConnection) async throws {
        var body = WireWriter()
        try body.string(name)
        body.uint32(4)  // DBUS_NAME_FLAG_DO_NOT_QUEUE: there is one service of a name, or an error.
        let answer = try await connection.call(.toBus("RequestName", Signature("su"), body: body.bytes))
        if try answer.read("u", { try $0.uint32() }) == 1 { return }  // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER
        throw RelayError(
            .conflict,
            "\(name) has an owner on \(bus) already\(await owner(connection)): stop that one, or use another name or bus"
        )
    }
    /// Who has the name, for a message.
    private func owner(_ connection: BusConnection) async -> String {
        var body = WireWriter()
        do {
            try body.string(name)
            let request = MethodCall.toBus("GetConnectionUnixProcessID", try Signature("s"), body: body.bytes)
            let id = try await connection.call(request).read("u") { try $0.uint32() }
            return ", process \(id)"
        } catch {
            return ""
        }
    }
    /// Has the bus pass the signals of others that are needed. The connection requests each rule until the bus answers: so the wait has an end here.
    ///
    /// Throws `Unavailable` if the bus has not answered in time, `Cancelled`.
    private func addRules(_ connection: BusConnection) async throws {
        let needsPolkit = interfaces.contains { $0.requirements.contains(where: \.needsPolkit) }
        let isLate = Atomic<Bool>(false)
        let timer = loop.schedule(after: timing.matchRules) {
            isLate.store(true, ordering: .releasing)
            connection.close()
        }
        defer { loop.cancel(timer: timer) }
        do {
            try await withTaskCancellationHandler {
                for rule in [MatchRule.departures] + (needsPolkit ? [Polkit.changes, .owner(of: Polkit.name)] : []) {
                    try await withCheckedThrowingContinuation { (ready: CheckedContinuation<Void, any Error>) in
                        loop.execute { connection.addMatch(rule) { ready.resume(with: $0.map { _ in () }) } }
                    }
                }
            } onCancel: {
                connection.close()
            }
        } catch {
            if Task.isCancelled { throw RelayError(.cancelled, "the task was cancelled while \(name) started") }
            if !isLate.load(ordering: .acquiring) { throw error }
            throw RelayError(
                .unavailable,
                "\(name) cannot start: \(bus) answered Hello, and no AddMatch within \(timing.matchRules): see whether the bus's "
                    + "process is stopped or overloaded, and start again", cause: error)
        }
    }
}
