/// What kernels have said.
enum Samples {
    static let stat = """
        cpu  2525641 1 372552 1739613 13760 0 5903 2650 0 0
        cpu0 1243601 0 178390 903057 3216 0 454 1300 0 0
        cpu3 1282039 1 194161 836555 10544 7 5448 1349 11 12
        intr 36861702 0 0 0 1 1 14
        ctxt 131538170
        btime 1795179600
        processes 4711

        """
    static let oldStat = """
        cpu  100 2 30 4000
        cpu0 100 2 30 4000
        intr 9
        """
    static let meminfo = """
        MemTotal:        4030428 kB
        MemFree:          210932 kB
        MemAvailable:    3120044 kB
        Buffers:           12345 kB
        Cached:          2345678 kB
        SwapCached:            1 kB
        Active:           777777 kB
        SwapTotal:       1048572 kB
        SwapFree:        1048000 kB
        HugePages_Total:       0
        Hugepagesize:       2048 kB

        """
    static let loadavg = "17.87 7.06 0.19 5/1155 7971\n"
    static let netDev = """
        Inter-|   Receive                                                |  Transmit
         face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
            lo:  127513    4145    0    0    0     0          0         0   127513    4145    0    0    0     0       0          0
          eth0: 40478401    1300   11   12   13    14         15        16    72241     844   21   22   23    24      25         26
        wlan0:18446744073709551615 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15

        """
}

extension String {
    var bytes: ArraySlice<UInt8> { Array(utf8)[...] }
}
