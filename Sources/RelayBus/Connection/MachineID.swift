import CDBus

/// The id of the machine that this process runs on, as `org.freedesktop.DBus.Peer.GetMachineId` returns it.
package enum MachineID {
    /// Nil where the machine has none.
    package static func read() -> String? {
        // libdbus knows where it is kept. The variant without `try` aborts the process when there is none.
        guard let id = dbus_try_get_local_machine_id(nil) else { return nil }
        defer { dbus_free(id) }
        return String(cString: id)
    }
}
