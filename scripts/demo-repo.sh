# demo_repo DIR [LINE]: make a small git repository with one commit and one
# change on top that is not committed. LINE replaces the changed line.
demo_repo() {
	local dir=$1 line=${2:-'    return price * (100 + percent) / 100 # TODO: more than 100 percent'}
	mkdir -p "$dir"
	(
		cd "$dir"
		export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
		git init -q -b main
		git config user.name Demo
		git config user.email demo@example.com
		printf '%s\n' \
			'def discount(price, percent):' \
			'    """Give the price less percent, in cents."""' \
			'    return price * (100 - percent) / 100' >price.py
		git add price.py
		git commit -q -m 'Add prices'
		{ head -n 2 price.py; printf '%s\n' "$line"; } >price.py.new
		mv price.py.new price.py
	)
}
