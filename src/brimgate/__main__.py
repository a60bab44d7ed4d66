import sys

from brimgate.cli.main import main

sys.exit(main())
