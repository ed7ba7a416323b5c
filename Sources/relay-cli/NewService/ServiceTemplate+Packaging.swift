extension ServiceTemplate {
    /// For systemd and the system bus.
    static let packaging: KeyValuePairs<String, String> = [
        "packaging/@NAME@.service": """
        # How the system bus starts @NAME@: by its unit.
        # X-Relay shows relay-cli that it is a service of Relay while it does not run; the bus ignores that line.
        [D-BUS Service]
        Name=@NAME@
        X-Relay=true
        Exec=/bin/false
        User=@PROGRAM@
        SystemdService=@PROGRAM@.service
        """,
        "packaging/@NAME@.conf": """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
            "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <!-- Who may own @NAME@ on the system bus, send its signals, call it and hear it. -->
        <busconfig>
          <!-- The stock bus lets everybody send signals. Relays check the sender; this is for tools that do not. -->
          <policy context="default">
            <deny own="@NAME@"/>
            <deny send_type="signal" send_interface="@INTERFACE@"/>
            <deny send_type="signal" send_path="@OBJECT@"/>
            <deny send_destination="@NAME@"/>
            <!-- A broadcast is judged by those who receive it: without this, the service would not hear that an
                 authorisation was withdrawn. It checks that it is polkit's. -->
            <allow send_type="signal" send_broadcast="true" send_interface="org.freedesktop.PolicyKit1.Authority"/>
            <!-- Its signals alone: polkit receives its calls. -->
            <deny receive_sender="@NAME@" receive_type="signal"/>
          </policy>
          <!-- Those who use it: adduser NAME @WORDS@-users -->
          <policy group="@WORDS@-users">
            <allow send_destination="@NAME@"/>
            <allow receive_sender="@NAME@"/>
          </policy>
          <policy user="root">
            <allow send_destination="@NAME@"/>
            <allow receive_sender="@NAME@"/>
          </policy>
          <policy user="@PROGRAM@">
            <allow own="@NAME@"/>
            <allow send_type="signal" send_interface="@INTERFACE@"/>
            <allow send_type="signal" send_path="@OBJECT@"/>
            <allow send_destination="@NAME@"/>
            <allow receive_sender="@NAME@"/>
            <!-- How much subscribers have not read: the service pauses its signals before the bus holds too much. -->
            <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Debug.Stats"/>
          </policy>
        </busconfig>
        """,
        "packaging/@PROGRAM@.service": """
        [Unit]
        Description=@MODULE@ (@NAME@)
        After=dbus.socket
        StartLimitIntervalSec=0

        [Service]
        Type=notify
        NotifyAccess=main
        BusName=@NAME@
        ExecStart=/usr/libexec/@PROGRAM@ --system /var/lib/@PROGRAM@
        User=@PROGRAM@
        StateDirectory=@PROGRAM@
        StateDirectoryMode=0700
        Restart=on-failure
        RestartSec=1
        TimeoutStartSec=infinity
        WatchdogSec=30
        # Requires an administrator.
        RestartPreventExitStatus=64 65 73 77

        UMask=0077
        LimitNOFILE=8192
        TasksMax=256
        MemoryMax=1G

        NoNewPrivileges=yes
        CapabilityBoundingSet=
        AmbientCapabilities=
        DevicePolicy=closed
        IPAddressDeny=any
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        PrivateDevices=yes
        PrivateMounts=yes
        PrivateNetwork=yes
        PrivateTmp=yes
        PrivateUsers=yes
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHome=yes
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        # Not with PeerRequirement.systemdUnit: it reads the callers' control groups in /proc.
        ProtectProc=invisible
        ProtectSystem=strict
        RemoveIPC=yes
        RestrictAddressFamilies=AF_UNIX
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged @resources
        SystemCallErrorNumber=EPERM
        """,
        "packaging/@PROGRAM@.sysusers": """
        # The service runs as this user, whom the bus's policy names.
        u @PROGRAM@ - "@MODULE@" /var/lib/@PROGRAM@
        # Who may call it and hear its events on the system bus.
        g @WORDS@-users -
        """,
    ]
    /// The Debian package, one for service and front end.
    static let debian: KeyValuePairs<String, String> = [
        "debian/control": """
        Source: @PROGRAM@
        Section: misc
        Priority: optional
        Maintainer: Your Name <you@example.org>
        Build-Depends: debhelper-compat (= 13), dh-sequence-installsysusers, libdbus-1-dev, libexpat1-dev, libsqlite3-dev, libsystemd-dev, pkg-config
        Standards-Version: 4.6.2
        Rules-Requires-Root: no

        Package: @PROGRAM@
        Architecture: any
        Depends: ${shlibs:Depends}, ${misc:Depends}, default-dbus-system-bus | dbus-system-bus
        Description: @MODULE@, a service on the system bus
         The service @NAME@ publishes typed events, keeps them, and
         replays what a subscriber missed. Built with Relay.
        """,
        "debian/changelog": """
        @PROGRAM@ (0.1.0) unstable; urgency=medium

          * The first version.

         -- Your Name <you@example.org>  Thu, 01 Jan 2026 00:00:00 +0000
        """,
        "debian/copyright": """
        Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
        Upstream-Name: @PROGRAM@

        Files: *
        Copyright: 2026 Your Name
        License: all-rights-reserved
         Choose a license.
        """,
        "debian/rules": #"""
        #!/usr/bin/make -f
        # With Swift's library in the programs: they run where there is no toolchain.
        BUILD = swift build -c release --static-swift-stdlib
        %:
        	dh $@

        override_dh_auto_configure override_dh_auto_test:

        override_dh_auto_build:
        	$(BUILD) --product @PROGRAM@
        	$(BUILD) --product @WORDS@-cli

        override_dh_auto_clean:

        override_dh_auto_install:
        	install -D -t debian/@PROGRAM@/usr/libexec "$$($(BUILD) --show-bin-path)/@PROGRAM@"
        	install -D -t debian/@PROGRAM@/usr/bin "$$($(BUILD) --show-bin-path)/@WORDS@-cli"
        	install -D -m 644 -t debian/@PROGRAM@/usr/share/dbus-1/system-services packaging/@NAME@.service
        	install -D -m 644 -t debian/@PROGRAM@/usr/share/dbus-1/system.d packaging/@NAME@.conf
        	install -D -m 644 packaging/@PROGRAM@.sysusers debian/@PROGRAM@/usr/lib/sysusers.d/@PROGRAM@.conf
        	install -D -m 644 -t debian/@PROGRAM@/lib/systemd/system packaging/@PROGRAM@.service

        # The bus starts it when it is first called. Debian 12's debhelper looks for units in /lib alone; Debian 13 has
        # none there.
        override_dh_installsystemd:
        	dh_installsystemd --no-enable --no-start --restart-after-upgrade
        	mkdir -p debian/@PROGRAM@/usr/lib/systemd
        	mv debian/@PROGRAM@/lib/systemd/system debian/@PROGRAM@/usr/lib/systemd/
        	rmdir debian/@PROGRAM@/lib/systemd debian/@PROGRAM@/lib

        # dwz does not know the form of debugging data that Swift writes.
        override_dh_dwz:
        """#,
        "debian/@PROGRAM@.prerm": """
        #!/bin/sh
        set -e

        # The bus has started it: an installation starts nothing, so that debhelper adds no stop.
        if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
            deb-systemd-invoke stop @PROGRAM@.service >/dev/null || true
        fi

        #DEBHELPER#
        """,
        "debian/@PROGRAM@.postrm": """
        #!/bin/sh
        set -e

        # The state stays until the package is purged. A mount point is emptied, and stays.
        if [ "$1" = purge ]; then
            if mountpoint -q /var/lib/@PROGRAM@; then
                find /var/lib/@PROGRAM@ -xdev -mindepth 1 -delete
            else
                rm -rf /var/lib/@PROGRAM@
            fi
        fi

        #DEBHELPER#
        """,
        "debian/source/format": "3.0 (native)",
    ]
}
