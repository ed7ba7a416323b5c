/// `OpenRing`: who may read the shared memory gets it.
extension ServiceCore {
    func openRing(_ call: IncomingCall, _ interface: ServedInterface, _ connection: BusConnection) {
        guard call.wantsReply else { return }
        // Whose the page is counts, whoever may have one.
        credentials(of: call.sender, connection) { [weak self] credentials in
            self?.openRing(call, interface, credentials, connection)
        }
    }
    private func openRing(
        _ call: IncomingCall, _ interface: ServedInterface, _ credentials: PeerCredentials, _ connection: BusConnection
    ) {
        do throws(RelayError) {
            guard connection.canPassDescriptors else {
                throw RelayError(.notFound, "this bus passes no file descriptors: events come as signals")
            }
            // Unknown: it has left, and would not be seen to leave again.
            guard let user = credentials.userID else {
                throw RelayError(.notPermitted, "OpenRing is for peers whose user the bus knows")
            }
            // The ring first: a page that is refused has cost nothing that another peer does not use.
            let ring = try interface.lane.openRing(waker)
            let page = try state.onLoop.pages.page(of: call.sender, user: user)
            ring.attach(page)
            try connection.reply(to: call, descriptors: [ring.descriptor, page.descriptor])
        } catch {
            fail(call, ErrorNames.name(for: error.code), error.message, connection)
        }
    }
    /// A peer has left: nobody looks at its page any more.
    func closeRings(of peer: String) {
        guard let page = state.onLoop.pages.depart(peer) else { return }
        for interface in interfaces { interface.lane.detach(page) }
    }
}
